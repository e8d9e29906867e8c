// What is not for paper goes (`gone`, of `only_on_screen.py`). A list of contents stands before the
// first page. Sphinx's `singlehtml` keeps the names of places as they are on single pages, where each
// page has a "summary": they are made unique, and a link leads to the place on its own page, if there
// is one. Returns the links that lead nowhere.
(gone) => {
  for (const one of document.querySelectorAll(gone)) one.remove();
  for (const one of document.querySelectorAll('details')) {
    one.removeAttribute('name'); // of folds with one name, a browser opens one at a time
    one.open = true;
  }
  for (const cell of document.querySelectorAll('div.cell, div.cell_input, div.cell_output'))
    if (!cell.textContent.trim() && !cell.querySelector('img, svg')) cell.remove();

  const marks = [...document.querySelectorAll('span[id^="document-"]')];
  const pages = marks.map(mark => ({
    name: mark.id.replace('document-', '').split('/').pop(),
    below: mark.id.startsWith('document-exercises/'),
    section: mark.nextElementSibling,
  }))
    .filter(page => page.section?.matches('section'));
  const article = document.querySelector('article');
  const everywhere = new Map();
  for (const page of pages) {
    page.section.classList.add('paper-page');
    page.places = new Map();
    for (const one of [page.section, ...page.section.querySelectorAll('[id]')]) {
      if (one.closest('svg')) continue;
      const old = one.id;
      one.id = `${page.name}--${old}`;
      if (!page.places.has(old)) page.places.set(old, one.id);
      if (!everywhere.has(old)) everywhere.set(old, one.id);
    }
    everywhere.set(`page ${page.name}`, page.section.id);
  }
  everywhere.set('page index', article.querySelector('section').id);
  const missing = [];
  for (const link of article.querySelectorAll('a[href]')) {
    const href = link.getAttribute('href');
    if (/^[a-z]+:/i.test(href)) continue;
    const [path, place = ''] = decodeURIComponent(href).split('#');
    const file = path.split('/').pop().replace(/\.html$/, '');
    const own = pages.find(page => page.section.contains(link));
    const same = path === '' || file === 'index';
    const to = place
      ? (same && own?.places.get(place)) || pages.find(p => p.name === file)?.places.get(place)
        || everywhere.get(place) || (document.getElementById(place) && place)
      : everywhere.get(`page ${file}`);
    if (to) link.setAttribute('href', `#${to}`);
    else if (/\.(ipynb|py|zip|toml|html)$/.test(path) && !place) link.removeAttribute('href');
    else missing.push(href);
  }

  const list = document.createElement('nav');
  list.className = 'paper-contents';
  list.append(Object.assign(document.createElement('h2'), { textContent: 'Contents' }));
  for (const page of pages) {
    const entry = Object.assign(document.createElement('a'), {
      href: `#${page.section.id}`,
      textContent: page.section.querySelector('h1, h2, h3, h4').textContent,
    });
    const line = document.createElement('p');
    if (page.below) line.className = 'below';
    line.append(entry, document.createElement('span')); // for the number of its page
    list.append(line);
  }
  marks[0].closest('.toctree-wrapper').before(list);
  return [...new Set(missing)];
}

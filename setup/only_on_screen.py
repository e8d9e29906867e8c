"""What only a click makes sense of on a page, or stays empty on paper and in an e-reader."""

SELECTOR = ", ".join(
    (
        ".headerlink",
        ".copybtn",
        ".notebook-buttons",
        "details.hide",
        "details.checks",
        "script",
        "noscript",
        "#pst-primary-sidebar",
        ".bd-header",
        ".bd-header-article",
        ".prev-next-footer",
        ".bd-footer-content",
        ".bd-sidebar-secondary",
        ".bd-footer",
        "#pst-back-to-top",
        "#jb-print-docs-body",
        "#pst-skip-link",
        ".skip-link",
        ".guide-filter",
        ".check-mark",
        "section#what-this-chapter-checks",
    )
)
"""The elements that these forms of the book go without, as a CSS selector."""

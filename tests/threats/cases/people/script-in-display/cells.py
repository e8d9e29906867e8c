# %% bottom
from IPython.display import HTML, SVG, Javascript, display

display(HTML("<script>alert('SCRIPT')</script><img src=x onerror=alert(1)>"))
display(Javascript("alert('SCRIPT')"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'><script>alert('SCRIPT')</script></svg>"))

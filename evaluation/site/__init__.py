"""The site of an edition: static pages of its rows.

One module a page (`front`, `keywords`, ...), each with one template of its name in
`templates/` and a function `pages(site)` that yields `Page`s; `build` lists the modules
and writes what they yield. `site` reads the edition and the dataset, `rendering` turns
a template into bytes, and `classes` groups outcomes as readers see them. Scripts
stand in `static/` and are classic ones: on `file://` neither `fetch` nor workers are
there, so data is a script too (`rendering.data_script`). To add a page, add a module, a
template, the module's name in `build` and a link in `templates/base.html.jinja`.
"""

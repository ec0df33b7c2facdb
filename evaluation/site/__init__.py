"""The site of an edition: static pages of its rows.

A function that yields `Page`s for each kind of page (`pages.front`, `keywords.pages`,
...), each with one template in `templates/`; `build` lists the functions and writes
what they yield. `site` reads the edition and the dataset, `rendering` turns a template
into bytes, `templates/tables.html.jinja` has the tables of all pages. Scripts are in
`static/` and are classic ones: on `file://` neither `fetch` nor workers exist, so
data is a script too (`rendering.data_script`). To add a page, add a function, a
template, the function's name in `build` and a link in `templates/base.html.jinja`.
"""

"""The page `/explore`, on which people search and order in the sandbox: what serves it; its scripts are in `static`.

In `static` itself is what its pages share; in `search` what the first view needs; in `panels` what is loaded when an
item, an order or a request is opened; in `operations` the page of operators.
"""

"""How the fields of a row are shown: six styles, each a function of the fields."""

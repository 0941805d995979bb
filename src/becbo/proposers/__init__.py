"""One published method per file. They do not know each other; `becbo.methods` names them."""

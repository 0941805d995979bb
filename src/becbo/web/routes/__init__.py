"""What the server answers: HTML pages with forms, and the REST interface.

Every form is an ordinary one that ends in a redirect, so that all pages work without JavaScript;
the script only draws figures and keeps a page up to date.
"""

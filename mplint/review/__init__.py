"""Reviewing a change: what it makes wrong, said on its own lines.

Data flow one way: two revisions are checked (`checking`), what the change causes or touches is kept (`selection`),
becomes comments and a summary (`comments`, `summary`), is compared with what was said before (`manners`), and told
(`session`) through a forge (`forges`). Nothing of the repository is ever run.
"""

"""
Teaches jupytext the language in a Jupyter server: in its Markdown only cells of languages that it knows stay cells, and a notebook
paired with `ipynb,md` would come back as one cell of text.
"""

import re

LANGUAGES = ('axiom-apl', 'apl')


def _jupyter_server_extension_points():
    return [{'module': 'apl_kernel.jupytext_language'}]


def _load_jupyter_server_extension(app):
    if not register():
        app.log.info('apl-kernel: jupytext is not there, or reads Markdown in a way that is not known')


def register():
    """Adds the language to jupytext's; False where there is no jupytext, or one without these tables."""
    try:
        from jupytext import cell_metadata, cell_reader, languages

        reader = cell_reader.MarkdownCellReader
        every = languages._JUPYTER_LANGUAGES_LOWER_AND_UPPER
        known = (languages._JUPYTER_LANGUAGES, cell_metadata._JUPYTER_LANGUAGES, every)
        for table in known:
            table.update(LANGUAGES)
        reader.start_code_re = re.compile(
            r'^```(`*)(\s*)({})($|\s.*$)'.format('|'.join(map(re.escape, sorted(every, reverse=True))))
        )
    except (ImportError, AttributeError):
        return False
    return True

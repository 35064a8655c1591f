"""Has MyST-NB pass over the forms of an output for JupyterLab, of which it would warn: it shows the image or the table beside them."""

FOR_JUPYTERLAB = ('application/vnd.vega.v5+json', 'application/vnd.apache.arrow.stream')


class PassOver:
    """A plugin of https://myst-nb.readthedocs.io/en/latest/render/format_code_cells.html"""

    mime_priority_overrides = ()

    @staticmethod
    def handle_mime(renderer, data, inline):
        return [] if data.mime_type in FOR_JUPYTERLAB else None

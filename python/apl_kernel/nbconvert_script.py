"""Has `nbconvert --to script`, and *Executable Script* of JupyterLab, write what `apl-kernel convert` does: each cell below a `// %%`."""

import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbconvert.exporters import Exporter


class AplExporter(Exporter):
    """A script exporter, which nbconvert finds by the name of the language."""

    output_mimetype = 'text/x-axiom-apl'

    def _file_extension_default(self):
        return '.apl'

    def from_notebook_node(self, nb, resources=None, **kw):
        notebook, resources = super().from_notebook_node(nb, resources, **kw)
        with tempfile.TemporaryDirectory() as folder:
            source, script = Path(folder, 'a.ipynb'), Path(folder, 'a.apl')
            nbformat.write(notebook, source)
            command = [sys.executable, '-m', 'apl_kernel', 'convert', str(source), '-o', str(script)]
            done = subprocess.run(command, capture_output=True, encoding='utf-8')
            if done.returncode != 0:
                raise RuntimeError(done.stderr.strip())
            return script.read_text(encoding='utf-8'), resources

"""A kernel that only says what its language is: enough to see how JupyterLab treats APL cells."""

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class LanguageOnlyKernel(Kernel):
    implementation = "language-only"
    implementation_version = "1"
    banner = ""
    language_info = {
        "name": "axiom-apl",
        "mimetype": "text/x-axiom-apl",
        "file_extension": ".apl",
        "codemirror_mode": "axiom-apl",
    }

    async def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}


IPKernelApp.launch_instance(kernel_class=LanguageOnlyKernel)

"""jupyter_kernel_test on the installed kernel, or on the one named by APL_KERNEL_TEST_KERNEL."""

import os

import jupyter_kernel_test

KERNEL = os.environ.get("APL_KERNEL_TEST_KERNEL", "apl")


class AplKernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = KERNEL
    language_name = "axiom-apl"
    file_extension = ".apl"

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        # The first query starts the service, and a query that takes half a second shows progress: more outputs than these tests expect.
        cls.kc.execute_interactive("print x = 1", output_hook=lambda _: None, timeout=60)

    code_hello_world = "%echo hello, world"

    completion_samples = [
        {"text": "print x = strle", "matches": {"strlen"}},
        {"text": "['sample-http-logs'] | summari", "matches": {"summarize"}},
        {"text": "%ech", "matches": {"%echo"}},
    ]
    complete_code_samples = ["print x = 1", "print x = 1\n| extend y = x", "%echo hello"]
    incomplete_code_samples = ["print x = (", "print x = 1 |", "print x = ['a"]
    invalid_code_samples = ["print x = )"]

    code_generate_error = "print nosuchfunction(1)"

    code_execute_result = [
        {"code": "print x = 1", "mime": "text/plain"},
        {"code": "print y = 'a'", "mime": "text/html"},
        {"code": "print z = strlen('héllo')", "mime": "application/vnd.apache.arrow.stream"},
    ]
    code_display_data = [{"code": "%help", "mime": "text/markdown"}]

    code_history_pattern = "print x = 1"
    supported_history_operations = ("tail", "range", "search")

    code_inspect_sample = "strlen"

    # APL cannot write to stderr, open a pager or clear its output.
    test_execute_stderr = None
    test_pager = None
    test_clear_output = None


class AplIopubWelcomeTests(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


# These tests are inherited above; on their own they would test another kernel.
del jupyter_kernel_test

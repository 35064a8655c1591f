import type { KernelInfo } from '../jupyter/message.js';

/**
 * Returns the kernel's description of itself and its language, for kernel_info_reply:
 * https://jupyter-client.readthedocs.io/en/stable/messaging.html#kernel-info
 */
export function kernelInfo(version: string): KernelInfo {
  return {
    implementation: 'apl-kernel',
    implementation_version: version,
    language_info: {
      name: 'axiom-apl',
      version: '1.0',
      mimetype: 'text/x-axiom-apl',
      file_extension: '.apl',
      codemirror_mode: 'axiom-apl',
      pygments_lexer: 'kusto',
    },
    banner: `apl-kernel ${version}: APL, the Axiom Processing Language. Run %help for what a cell can contain.`,
    help_links: [
      { text: 'APL: introduction', url: 'https://axiom.co/docs/apl/introduction' },
      { text: 'APL: functions', url: 'https://axiom.co/docs/apl/scalar-functions/metadata-functions' },
    ],
  };
}

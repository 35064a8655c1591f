import { InputDialog } from '@jupyterlab/apputils';
import type { Kernel, KernelMessage } from '@jupyterlab/services';

/** An output displayed by lines. */
export type Displayed = { readonly output_type: 'display_data' } & Pick<
  KernelMessage.IDisplayDataMsg['content'],
  'data' | 'metadata'
>;

/** The outcome of lines that ran in the kernel. */
export interface MagicOutcome {
  readonly isOk: boolean;
  /** Their printed text, or the kernel's error message. */
  readonly text: string;
  /** The outputs they displayed. */
  readonly displayed: readonly Displayed[];
  /** Source that the kernel would put in their place, such as the two times of `%time --freeze`. */
  readonly written?: string;
}

/**
 * Runs lines like a cell, after the pending cells: changes in a toolbar go through the same code as typed ones. They
 * leave no history and have no execution count. A dialog prompts for the kernel's input requests, such as a token. Never rejects.
 */
export async function runLines(kernel: Kernel.IKernelConnection, code: string): Promise<MagicOutcome> {
  let printed = '';
  const displayed: Displayed[] = [];
  try {
    const future = kernel.requestExecute({ code, store_history: false, stop_on_error: false });
    future.onIOPub = message => {
      if (message.header.msg_type === 'stream') printed += (message as KernelMessage.IStreamMsg).content.text;
      if (message.header.msg_type === 'display_data') {
        const { data, metadata } = (message as KernelMessage.IDisplayDataMsg).content;
        displayed.push({ output_type: 'display_data', data, metadata });
      }
    };
    future.onStdin = async message => {
      if (message.header.msg_type !== 'input_request') return;
      const value = await answerTo(message as KernelMessage.IInputRequestMsg);
      future.sendInputReply(
        { status: 'ok', value },
        message.header as KernelMessage.IInputRequestMsg['header'],
      );
    };
    const { content } = await future.done;
    if (content.status === 'ok')
      return { isOk: true, text: printed.trim(), displayed, ...writtenBy(content.payload) };
    return {
      isOk: false,
      text: content.status === 'error' ? content.evalue : 'The kernel aborted the request.',
      displayed,
    };
  } catch {
    return { isOk: false, text: 'The kernel was restarted or has stopped.', displayed };
  }
}

function writtenBy(payload: unknown): { readonly written?: string } {
  const [first]: readonly { readonly text?: unknown; readonly replace?: unknown }[] = Array.isArray(payload)
    ? payload
    : [];
  return typeof first?.text === 'string' && first.replace === true ? { written: first.text } : {};
}

async function answerTo({ content }: KernelMessage.IInputRequestMsg): Promise<string> {
  const ask = content.password ? InputDialog.getPassword : InputDialog.getText;
  const { value } = await ask({ title: 'Kernel input', label: content.prompt });
  return value ?? '';
}

import type { Kernel } from '@jupyterlab/services';

/** Our own connections, by the connection of a document without comms. */
const own = new WeakMap<Kernel.IKernelConnection, Kernel.IKernelConnection>();

/**
 * Returns a connection to the same kernel with comms. JupyterLab only gives them to the first document of a kernel: in
 * a second notebook, or a console beside one, grids would have no rows and editors no names.
 */
export function withComms(kernel: Kernel.IKernelConnection): Kernel.IKernelConnection {
  if (kernel.handleComms) return kernel;
  const known = own.get(kernel);
  if (known !== undefined && !known.isDisposed) return known;
  const made = kernel.clone({ handleComms: true });
  kernel.disposed.connect(() => made.dispose());
  own.set(kernel, made);
  return made;
}

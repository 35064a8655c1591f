/**
 * Vega and Vega-Lite, which are large: the first chart loads them, not the start of the kernel.
 */

/** Returns Vega, which draws. */
export async function loadVega(): Promise<typeof import('vega')> {
  return exportsOf(await import('vega'));
}

/** Returns Vega-Lite, which compiles what Vega draws. */
export async function loadVegaLite(): Promise<typeof import('vega-lite')> {
  return exportsOf(await import('vega-lite'));
}

/** Both are of the older kind of modules, of which a bundle has the default alone. */
function exportsOf<T extends object>(module: T): T {
  return 'default' in module ? (module.default as T) : module;
}

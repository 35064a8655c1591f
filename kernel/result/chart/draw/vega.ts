/** Returns Vega, which draws. It is large: the first chart loads it, not the start of the kernel. */
export async function loadVega(): Promise<typeof import('vega')> {
  const module = await import('vega');
  // It is of the older kind of modules, of which a bundle has the default alone.
  return 'default' in module ? (module.default as typeof import('vega')) : module;
}

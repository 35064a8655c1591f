/** Returns the parts of a path, a file URI or a URL as a JSON map; missing parts are empty. */
export function parsePath(text: string): string {
  const [, scheme = '', afterScheme] = /^([a-z][a-z0-9+.-]+):\/\/(.*)$/is.exec(text) ?? [];
  const path =
    afterScheme === undefined ? text : afterScheme.replace(/^\/(?=[a-z]:)/i, '').replace(/[?#].*$/s, '');
  const [root = ''] = /^[a-z]:/i.exec(path) ?? [];
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  const directory = path.slice(0, Math.max(cut, 0));
  const last = path.slice(Math.max(cut + 1, cut === -1 ? root.length : 0));
  const [filename = '', ...stream] = last.split(':');
  return JSON.stringify({
    Scheme: scheme,
    RootPath: root,
    DirectoryPath: directory,
    DirectoryName: directory.split(/[/\\]/).at(-1) ?? '',
    Filename: filename,
    Extension: /.\.([^.]+)$/s.exec(filename)?.[1] ?? '',
    AlternateDataStream: stream.join(':'),
  });
}

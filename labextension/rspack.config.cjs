// The sources, those of kernel/apl among them, are bundled straight from TypeScript; `npm run check` has checked the types.
module.exports = {
  module: {
    rules: [
      {
        test: /\.ts$/,
        loader: 'builtin:swc-loader',
        options: { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } },
      },
    ],
  },
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
};

/** Bytes of Windows-1252 that tell it from other encodings, each alone, and their text. */
export const westernLines: readonly (readonly [bytes: string, words: string])[] = [
  ['it\x92s', 'it’s'],
  ['S\xe3o Paulo', 'São Paulo'],
  ['Krist\xe1n', 'Kristán'],
  ['tr\xe8s, b\xeate', 'très, bête'],
  ['\xe9lan', 'élan'],
  ['el\xe4m\xe4\xe4n', 'elämään'],
  ['\xa325,000', '£25,000'],
  ['5 \x80', '5 €'],
  ['20 \xb0C', '20 °C'],
  ['Pay (\xa3)', 'Pay (£)'],
  ['\xa9 ACME', '© ACME'],
  ['2014\x962015', '2014–2015'],
  ['a \x96 b', 'a – b'],
  ['First\x96Citizens', 'First–Citizens'],
  ['name\xa0', 'name\u00a0'],
];

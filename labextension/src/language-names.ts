/** The language id and MIME type, as in the kernel's `language_info`; plain `apl` is the array language of 1966. */
export const languageId = 'axiom-apl';
export const mimeType = 'text/x-axiom-apl';

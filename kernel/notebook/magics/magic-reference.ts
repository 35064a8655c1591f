import { askedEffects } from './effects/effects.js';
import type { Magic } from './magic.js';
import { magicLines } from './magic-lines.js';

/** Returns the full reference of one magic as Markdown. */
export function magicHelp(magic: Magic): string {
  const { aliases: words = [] } = magicLines[magic.name];
  const aliases = words.map(alias => `\`%${alias}\``).join(', ');
  const options = magic.options.map(
    option =>
      `- \`--${option.name}${option.value === undefined ? '' : ` ${option.value}`}\`: ${option.summary}`,
  );
  const asked = askedEffects.filter(each => magic.effects.includes(each)).map(each => `\`${each}\``);
  return [
    `### %${magic.name}`,
    `\`${magic.usage}\`${aliases === '' ? '' : ` (also ${aliases})`}`,
    `${capital(magic.summary)}.`,
    ...(options.length === 0 ? [] : [options.join('\n')]),
    magic.help,
    ...(asked.length === 0 ? [] : [`Asks before its first ${asked.join(' or ')} effect in a session.`]),
  ].join('\n\n');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Lines filled down to the axis, or to the line below. */

import type { KindRow } from './kind.js';
import { line } from './line.js';

export const area: KindRow = { ...line, label: 'Areas', title: 'area chart' };

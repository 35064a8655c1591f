/** Every kind of chart, one line each. */
export { area } from './area.js';
export { bar } from './bar.js';
export { heat } from './heat.js';
export { line } from './line.js';
export { pie } from './pie.js';
export { scatter } from './scatter.js';
export { shares } from './shares.js';
export { stat } from './stat.js';

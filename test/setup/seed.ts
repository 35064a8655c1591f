import fc from 'fast-check';

/**
 * Random inputs are the same in every run, so that a commit passes or fails for its own reasons; RANDOM_SEED=… draws others.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.RANDOM_SEED ?? 1) });

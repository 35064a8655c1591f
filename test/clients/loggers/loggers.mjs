/** Writes an event by each logger; the program ends when all has been sent. */

import { WinstonTransport as FormerTransport } from '@axiomhq/axiom-node';
import { Axiom } from '@axiomhq/js';
import { AxiomJSTransport, Logger } from '@axiomhq/logging';
import { WinstonTransport } from '@axiomhq/winston';
import { AxiomTransport } from '@loglayer/transport-axiom';
import { sendToAxiom } from 'evlog/axiom';
import { LogLayer } from 'loglayer';
import nextAxiom from 'next-axiom';
import pino from 'pino';
import winston from 'winston';

const { AXIOM_URL: url, AXIOM_TOKEN: token, AXIOM_DATASET: dataset } = process.env;
const options = { url, token, dataset, orgId: 'local' };

const transport = new WinstonTransport(options);
winston.createLogger({ transports: [transport] }).warn('it is done', { logger: '@axiomhq/winston' });
await transport.flush();

const logger = new Logger({
  transports: [new AxiomJSTransport({ axiom: new Axiom(options), dataset })],
});
logger.warn('it is done', { logger: '@axiomhq/logging' });
await logger.flush();

const next = new nextAxiom.Logger();
next.warn('it is done', { logger: 'next-axiom' });
await next.flush();

const axiom = new Axiom(options);
const layer = new LogLayer({ transport: new AxiomTransport({ logger: axiom, dataset }) });
layer.withMetadata({ logger: '@loglayer/transport-axiom' }).warn('it is done');
await axiom.flush();

const event = { timestamp: new Date().toISOString(), level: 'warn', message: 'it is done', logger: 'evlog' };
await sendToAxiom(event, { dataset, apiKey: token, edgeUrl: url });

// It sends what it has after a second.
const former = winston.createLogger({ transports: [new FormerTransport(options)] });
former.warn('it is done', { logger: '@axiomhq/axiom-node' });

// Its thread sends what is left while the program ends.
pino(pino.transport({ target: '@axiomhq/pino', options })).warn({ logger: '@axiomhq/pino' }, 'it is done');

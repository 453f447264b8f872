import { requestsThatAreBrokenOff } from './broken-at-every-step.fixture.js';

/** `HOSTILE_INPUTS=full`: as many as before a release. */
const FULL = process.env['HOSTILE_INPUTS'] === 'full';
const REQUESTS = FULL ? 10_000 : 700;

describe(`${REQUESTS} requests that are broken off at every step`, () =>
  requestsThatAreBrokenOff(REQUESTS, { heap: FULL }));

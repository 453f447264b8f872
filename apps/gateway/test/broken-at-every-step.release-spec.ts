import { requestsThatAreBrokenOff } from '../src/broken-at-every-step.fixture.js';

describe('10,000 requests that are broken off at every step', () =>
  requestsThatAreBrokenOff(10_000, { heap: true }));

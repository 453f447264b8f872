import { Problem } from '@customer-platform/problem-json';
import type { RouteClass } from './route-classes.js';

/** Made once: whoever refuses much must not spend much on it. */
const OVERLOADED = new Problem('overloaded');
/** Pages of any origin send events, and shall see how long to wait (contract.md §6). */
const TO_PAGES = new Problem('overloaded', {
  headers: {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Retry-After, X-Correlation-Id',
  },
});

/** Returns the answer to a request of this class that is refused because its module is overloaded. */
export function overloaded(route: RouteClass): Problem {
  return route === 'ingestion' ? TO_PAGES : OVERLOADED;
}

import type { Finding } from '../dns-records.js';

/** What DNS says of one record; `silent`: nothing. */
export type Verdict = Pick<Finding, 'status' | 'fault'> | 'silent';

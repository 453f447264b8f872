import { createHmac } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';
import { equalInConstantTime } from '../signatures/constant-time.js';
import { readReports } from './reports-body.js';
import { headerOf, requireFresh, type WebhookAdapter } from './webhook-call.js';

/** For whoever cannot do better: `x-signature: sha256=<hex>` over `x-timestamp.body`, the secret as plain text. */
export const genericAdapter: WebhookAdapter = {
  of: 'http',
  verify(call, secret) {
    const timestamp = headerOf(call, 'x-timestamp');
    const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(call.body).digest('hex');
    if (!equalInConstantTime(headerOf(call, 'x-signature'), `sha256=${mac}`))
      throw new Problem('invalid_signature');
    requireFresh(timestamp, call.now);
  },
  read: ({ body }) => readReports(body),
};

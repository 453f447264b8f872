import { createHmac } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';
import { equalInConstantTime } from '../../vocabulary/signatures/constant-time.js';
import { headerOf, requireFresh, type Webhook } from '../webhook.js';
import { secretFor, type HttpAccount } from './http-account.js';
import { readReports } from './reports-body.js';

/** For whoever cannot do better: `x-signature: sha256=<hex>` over `x-timestamp.body`, the secret as plain text. */
export const genericWebhook: Webhook<HttpAccount> = {
  verify(call, account) {
    const timestamp = headerOf(call, 'x-timestamp');
    const mac = createHmac('sha256', secretFor(account))
      .update(`${timestamp}.`)
      .update(call.body)
      .digest('hex');
    if (!equalInConstantTime(headerOf(call, 'x-signature'), `sha256=${mac}`))
      throw new Problem('invalid_signature');
    requireFresh(timestamp, call.now);
  },
  read: ({ body, now }) => readReports(body, now),
};

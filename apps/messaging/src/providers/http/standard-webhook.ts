import { Problem } from '@customer-platform/problem-json';
import { verifyStandard } from '../../vocabulary/signatures/standard-webhooks.js';
import { headerOf, requireFresh, type Webhook } from '../webhook.js';
import { secretFor, type HttpAccount } from './http-account.js';
import { readReports } from './reports-body.js';

/** Standard Webhooks, symmetric: `v1` over `id.timestamp.body`. */
export const standardWebhook: Webhook<HttpAccount> = {
  verify(call, account) {
    const headers = {
      'webhook-id': headerOf(call, 'webhook-id'),
      'webhook-timestamp': headerOf(call, 'webhook-timestamp'),
      'webhook-signature': headerOf(call, 'webhook-signature'),
    };
    if (!verifyStandard(secretFor(account), headers, call.body)) throw new Problem('invalid_signature');
    requireFresh(headers['webhook-timestamp'], call.now);
  },
  read: ({ body, now }) => readReports(body, now),
};

import { Problem } from '@customer-platform/problem-json';
import { verifyStandard } from '../signatures/standard-webhooks.js';
import { readReports } from './reports-body.js';
import { headerOf, requireFresh, type WebhookAdapter } from './webhook-call.js';

/** Standard Webhooks, symmetric: `v1` over `id.timestamp.body`. */
export const standardAdapter: WebhookAdapter = {
  of: 'http',
  verify(call, secret) {
    const headers = {
      'webhook-id': headerOf(call, 'webhook-id'),
      'webhook-timestamp': headerOf(call, 'webhook-timestamp'),
      'webhook-signature': headerOf(call, 'webhook-signature'),
    };
    if (!verifyStandard(secret, headers, call.body)) throw new Problem('invalid_signature');
    requireFresh(headers['webhook-timestamp'], call.now);
  },
  read: ({ body }) => readReports(body),
};

import type { DescribedEvent, Taxonomy } from '../taxonomy.js';
import {
  address,
  amount,
  count,
  currency,
  day,
  event,
  flag,
  instant,
  list,
  object,
  oneOf,
  text,
} from './parts.js';

const invoice_id = text('Number or identifier of the invoice.');
const subscription_id = text('Identifier of the subscription.');
const payment_id = text('Identifier of the payment.');
const plan = text('Plan that is subscribed to.');
const interval = oneOf('How often it is billed.', 'day', 'week', 'month', 'quarter', 'year');
const method = oneOf('How it is paid.', 'card', 'bank_transfer', 'direct_debit', 'wallet', 'cash', 'other');
const reason = text('Why.', 500);

const invoice = {
  invoice_id,
  subscription_id,
  amount: amount('What is to be paid, in minor units.'),
  currency,
  tax: amount('Taxes within the amount.'),
  issued_on: day('Date of the invoice.'),
  due_on: day('Last day on which it can be paid in time.'),
  url: address('Where the invoice can be read.'),
};
const INVOICE = {
  invoice_id: 'INV-2041',
  subscription_id: 'SUB-88',
  amount: 29990,
  currency: 'CLP',
  tax: 4788,
  issued_on: '2026-11-01',
  due_on: '2026-11-15',
};

const invoices: readonly DescribedEvent[] = [
  event('invoice_created', 'An invoice was made out.', {
    required: ['invoice_id', 'amount', 'currency'],
    properties: {
      ...invoice,
      lines: list(
        'What is charged, line by line.',
        object('A line of the invoice.', ['description', 'amount'], {
          description: text('What it is for.', 500),
          quantity: count('How many.', 0),
          amount: amount('What the line costs.'),
        }),
      ),
    },
    example: { ...INVOICE, lines: [{ description: 'Plan Pro, November', quantity: 1, amount: 29990 }] },
  }),
  event('invoice_sent', 'An invoice was sent to who has to pay it.', {
    required: ['invoice_id'],
    properties: { ...invoice, channel: oneOf('By what.', 'email', 'post', 'portal', 'other') },
    example: { invoice_id: 'INV-2041', amount: 29990, currency: 'CLP', channel: 'email' },
  }),
  event('invoice_paid', 'An invoice was paid.', {
    required: ['amount', 'currency', 'invoice_id'],
    properties: {
      amount: amount('What was paid, in minor units.'),
      currency,
      invoice_id,
      subscription_id,
      payment_id,
      method,
      paid_at: instant('When the money came.'),
    },
    example: {
      amount: 29990,
      currency: 'CLP',
      invoice_id: 'INV-2041',
      payment_id: 'PAY-771',
      method: 'card',
    },
  }),
  event('invoice_overdue', 'An invoice was not paid in time.', {
    required: ['invoice_id'],
    properties: { ...invoice, days_overdue: count('Days since the last day on which it could be paid.') },
    example: {
      invoice_id: 'INV-2041',
      amount: 29990,
      currency: 'CLP',
      due_on: '2026-11-15',
      days_overdue: 3,
    },
  }),
  event('invoice_voided', 'An invoice was declared void.', {
    required: ['invoice_id'],
    properties: { ...invoice, reason },
    example: { invoice_id: 'INV-2041', amount: 29990, currency: 'CLP', reason: 'Made out twice' },
  }),
  event('credit_note_issued', 'A credit note was made out for an invoice.', {
    required: ['credit_note_id', 'amount', 'currency'],
    properties: {
      credit_note_id: text('Number of the credit note.'),
      invoice_id,
      amount: amount('What is credited, in minor units.'),
      currency,
      reason,
    },
    example: {
      credit_note_id: 'CN-17',
      invoice_id: 'INV-2041',
      amount: 9990,
      currency: 'CLP',
      reason: 'Outage',
    },
  }),
];

const payments: readonly DescribedEvent[] = [
  event('payment_method_added', 'A way to pay was added. Never numbers of cards or accounts.', {
    required: ['method'],
    properties: {
      payment_method_id: text('Identifier of the way to pay.'),
      method,
      brand: text('Brand of the card or name of the bank.', 100),
      last_digits: {
        type: 'string',
        description: 'Its last four digits.',
        maxLength: 4,
        pattern: '^[0-9]{4}$',
      },
      expires_on: day('Last day on which it can be used.'),
      default: flag('Whether it is used unless another one is chosen.'),
    },
    example: { payment_method_id: 'PM-5', method: 'card', brand: 'visa', last_digits: '4242', default: true },
  }),
  event('payment_method_removed', 'A way to pay was taken away.', {
    required: ['payment_method_id'],
    properties: { payment_method_id: text('Identifier of the way to pay.'), method },
    example: { payment_method_id: 'PM-5', method: 'card' },
  }),
  event('payment_failed', 'A payment was tried and did not come through.', {
    required: ['amount', 'currency'],
    properties: {
      payment_id,
      invoice_id,
      subscription_id,
      amount: amount('What should have been paid, in minor units.'),
      currency,
      method,
      attempt: count('Which try it was, from 1.'),
      next_attempt_at: instant('When it is tried again.'),
      failure: oneOf(
        'Why it failed.',
        ...[
          'insufficient_funds',
          'card_expired',
          'card_declined',
          'authentication_failed',
          'provider_error',
          'other',
        ],
      ),
    },
    example: {
      payment_id: 'PAY-770',
      invoice_id: 'INV-2041',
      amount: 29990,
      currency: 'CLP',
      method: 'card',
      attempt: 1,
      next_attempt_at: '2026-11-18T09:00:00-03:00',
      failure: 'insufficient_funds',
    },
  }),
  event('payment_refunded', 'Money was given back.', {
    required: ['amount', 'currency'],
    properties: {
      refund_id: text('Identifier of the refund.'),
      payment_id,
      invoice_id,
      amount: amount('What was given back, in minor units.'),
      currency,
      full: flag('Whether that was all that had been paid.'),
      reason,
    },
    example: { refund_id: 'R-12', payment_id: 'PAY-771', amount: 29990, currency: 'CLP', full: true },
  }),
  event('charge_disputed', 'Who paid had their bank call the money back.', {
    required: ['payment_id', 'amount', 'currency'],
    properties: {
      dispute_id: text('Identifier of the dispute.'),
      payment_id,
      invoice_id,
      amount: amount('What is disputed, in minor units.'),
      currency,
      reason,
      answer_until: instant('Until when it can be answered.'),
    },
    example: {
      dispute_id: 'D-3',
      payment_id: 'PAY-771',
      amount: 29990,
      currency: 'CLP',
      reason: 'not_recognized',
    },
  }),
];

const subscription = {
  subscription_id,
  plan,
  amount: amount('What one interval costs, in minor units.'),
  currency,
  interval,
  seats: count('For how many people.'),
};
const SUBSCRIPTION = {
  subscription_id: 'SUB-88',
  plan: 'pro',
  amount: 29990,
  currency: 'CLP',
  interval: 'month',
};

const subscriptions: readonly DescribedEvent[] = [
  event('subscription_started', 'A subscription began.', {
    required: ['subscription_id', 'plan'],
    properties: {
      ...subscription,
      started_at: instant('When it began.'),
      trial_ends_at: instant('End of its trial.'),
    },
    example: { ...SUBSCRIPTION, seats: 3, started_at: '2026-11-01T00:00:00-03:00' },
  }),
  event('subscription_renewed', 'A subscription went on for another interval.', {
    required: ['subscription_id'],
    properties: { ...subscription, invoice_id, renews_at: instant('When it renews next.') },
    example: { ...SUBSCRIPTION, invoice_id: 'INV-2041', renews_at: '2026-12-01T00:00:00-03:00' },
  }),
  event('subscription_changed', 'A subscription has another plan, price or number of seats.', {
    required: ['subscription_id'],
    properties: {
      ...subscription,
      previous_plan: text('Plan before the change.'),
      previous_amount: amount('What one interval cost before, in minor units.'),
      direction: oneOf('Which way it went.', 'upgrade', 'downgrade', 'other'),
    },
    example: { ...SUBSCRIPTION, previous_plan: 'starter', previous_amount: 9990, direction: 'upgrade' },
  }),
  event('subscription_paused', 'A subscription rests.', {
    required: ['subscription_id'],
    properties: { subscription_id, plan, reason, resumes_at: instant('When it goes on by itself.') },
    example: { subscription_id: 'SUB-88', plan: 'pro', resumes_at: '2027-01-01T00:00:00-03:00' },
  }),
  event('subscription_resumed', 'A subscription that rested goes on.', {
    required: ['subscription_id'],
    properties: { subscription_id, plan },
    example: { subscription_id: 'SUB-88', plan: 'pro' },
  }),
  event('subscription_cancelled', 'A subscription was ended, at once or at the end of its interval.', {
    required: ['subscription_id'],
    properties: {
      subscription_id,
      plan,
      reason,
      cancelled_by: oneOf('By whom.', 'customer', 'merchant', 'system'),
      ends_at: instant('Until when it can be used.'),
    },
    example: {
      subscription_id: 'SUB-88',
      plan: 'pro',
      reason: 'Too expensive',
      cancelled_by: 'customer',
      ends_at: '2026-12-01T00:00:00-03:00',
    },
  }),
];

/** What happens between an invoice and its payment, and to a subscription. */
export const BILLING_1: Taxonomy = {
  slug: 'billing',
  version: '1.0.0',
  shippedAt: '2026-11-23T00:00:00.000Z',
  events: [...invoices, ...payments, ...subscriptions],
};

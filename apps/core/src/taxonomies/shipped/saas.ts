import type { DescribedEvent, Taxonomy } from '../taxonomy.js';
import { address, count, event, flag, instant, oneOf, text } from './parts.js';

const workspace_id = text('Identifier of the workspace or account.');
const user_id = text('Identifier of the user whom it is about.');
const role = text('Role within the workspace, such as `editor`.', 100);
const plan = text('Plan of the workspace.');
const method = oneOf(
  'How.',
  'password',
  'email_link',
  'google',
  'microsoft',
  'apple',
  'sso',
  'passkey',
  'other',
);
const feature = text('What the product calls the feature.');

const people: readonly DescribedEvent[] = [
  event('signed_up', 'Somebody made an account.', {
    required: ['method'],
    properties: {
      method,
      plan,
      workspace_id,
      referrer: text('Where they came from.', 500),
      invitation_id: text('Identifier of the invitation that they followed.'),
    },
    example: { method: 'google', plan: 'free', workspace_id: 'ws-19', referrer: 'newsletter' },
  }),
  event('signed_in', 'Somebody signed in.', {
    properties: { method, workspace_id, second_factor: flag('Whether a second factor was asked for.') },
    example: { method: 'password', workspace_id: 'ws-19', second_factor: true },
  }),
  event('signed_out', 'Somebody signed out.', {
    properties: { workspace_id, everywhere: flag('Whether all sessions were ended.') },
    example: { workspace_id: 'ws-19', everywhere: false },
  }),
  event('user_invited', 'Somebody was invited to a workspace.', {
    required: ['workspace_id'],
    properties: { workspace_id, invitation_id: text('Identifier of the invitation.'), role },
    example: { workspace_id: 'ws-19', invitation_id: 'inv-7', role: 'editor' },
  }),
  event('invitation_accepted', 'An invitation was followed.', {
    required: ['workspace_id'],
    properties: { workspace_id, invitation_id: text('Identifier of the invitation.'), role },
    example: { workspace_id: 'ws-19', invitation_id: 'inv-7', role: 'editor' },
  }),
  event('user_removed', 'Somebody was taken out of a workspace.', {
    required: ['workspace_id', 'user_id'],
    properties: { workspace_id, user_id, role },
    example: { workspace_id: 'ws-19', user_id: 'u-204', role: 'editor' },
  }),
  event('user_role_changed', 'Somebody has another role in a workspace.', {
    required: ['workspace_id', 'user_id', 'role'],
    properties: { workspace_id, user_id, role, previous_role: role },
    example: { workspace_id: 'ws-19', user_id: 'u-204', role: 'admin', previous_role: 'editor' },
  }),
];

const accounts: readonly DescribedEvent[] = [
  event('workspace_created', 'A workspace was made.', {
    required: ['workspace_id'],
    properties: { workspace_id, name: text('What it is called.'), plan },
    example: { workspace_id: 'ws-19', name: 'Loza Sur', plan: 'free' },
  }),
  event('workspace_deleted', 'A workspace was deleted.', {
    required: ['workspace_id'],
    properties: { workspace_id, plan, reason: text('Why.', 500) },
    example: { workspace_id: 'ws-19', plan: 'free', reason: 'Project ended' },
  }),
  event('trial_started', 'A trial began.', {
    required: ['plan'],
    properties: { workspace_id, plan, ends_at: instant('When it ends.') },
    example: { workspace_id: 'ws-19', plan: 'pro', ends_at: '2026-12-05T00:00:00-03:00' },
  }),
  event('trial_ended', 'A trial is over.', {
    required: ['plan', 'converted'],
    properties: { workspace_id, plan, converted: flag('Whether the plan is paid for from now on.') },
    example: { workspace_id: 'ws-19', plan: 'pro', converted: true },
  }),
  event('onboarding_step_completed', 'A step of the introduction was done.', {
    required: ['step'],
    properties: {
      workspace_id,
      step: text('Which one.', 100),
      position: count('Its place, from 1.'),
      skipped: flag('Whether it was passed over.'),
    },
    example: { workspace_id: 'ws-19', step: 'import_contacts', position: 2, skipped: false },
  }),
];

const usage: readonly DescribedEvent[] = [
  event('page_viewed', 'A page or screen was shown.', {
    properties: {
      path: text('Path of the page, or name of the screen.', 2_048),
      title: text('Its title.', 500),
      url: address('Its full address.'),
      referrer: text('Address from where it was opened.', 2_048),
    },
    example: { path: '/reports', title: 'Reports', url: 'https://app.example/reports' },
  }),
  event('feature_used', 'A feature of the product was used.', {
    required: ['feature'],
    properties: {
      feature,
      workspace_id,
      action: text('What was done with it.', 100),
      duration_ms: count('How long it took, in milliseconds.', 0),
    },
    example: { feature: 'reports', workspace_id: 'ws-19', action: 'exported', duration_ms: 840 },
  }),
  event('usage_limit_reached', 'Something of the plan was used up.', {
    required: ['limit'],
    properties: {
      workspace_id,
      plan,
      limit: text('What is limited, such as `seats`.', 100),
      used: count('How much was used.', 0),
      allowed: count('How much the plan allows.', 0),
    },
    example: { workspace_id: 'ws-19', plan: 'free', limit: 'seats', used: 3, allowed: 3 },
  }),
  event('integration_connected', 'Another product was connected.', {
    required: ['integration'],
    properties: { integration: text('Which one.', 100), workspace_id },
    example: { integration: 'slack', workspace_id: 'ws-19' },
  }),
  event('integration_disconnected', 'Another product was disconnected.', {
    required: ['integration'],
    properties: { integration: text('Which one.', 100), workspace_id, reason: text('Why.', 500) },
    example: { integration: 'slack', workspace_id: 'ws-19', reason: 'Replaced' },
  }),
  event('support_ticket_opened', 'Somebody asked for help.', {
    required: ['ticket_id'],
    properties: {
      ticket_id: text('Identifier of the ticket.'),
      workspace_id,
      topic: text('What it is about.', 100),
      priority: oneOf('How urgent it is.', 'low', 'normal', 'high', 'urgent'),
    },
    example: { ticket_id: 'T-3310', workspace_id: 'ws-19', topic: 'billing', priority: 'normal' },
  }),
  event('feedback_submitted', 'Somebody said what they think of the product.', {
    required: ['survey'],
    properties: {
      survey: text('Which survey or form.', 100),
      score: { type: 'integer', description: 'From 0, the worst, to 10.', minimum: 0, maximum: 10 },
      comment: text('What was written.', 5_000),
    },
    example: { survey: 'nps-2026-q4', score: 9, comment: 'The new reports save us a day.' },
  }),
];

/** What happens in a product that is used over the web: accounts, people, use. */
export const SAAS_1: Taxonomy = {
  slug: 'saas',
  version: '1.0.0',
  shippedAt: '2026-11-23T00:00:00.000Z',
  events: [...people, ...accounts, ...usage],
};

import { define } from './problem-definition.js';

/** Codes of the messaging module. */
export const messagingProblems = define({
  invalid_address: [
    400,
    'Invalid address',
    'The address is not one bare address of its channel.',
    'Send an e-mail address without a display name, or a phone number in E.164.',
  ],
  recipient_suppressed: [
    422,
    'Recipient suppressed',
    'The address is suppressed; no permission or setting sends to it.',
    'Nothing was sent. Lift the suppression only at the wish of the recipient.',
  ],
  recipient_unreachable: [
    422,
    'Recipient unreachable',
    'The recipient is unknown or has no address for the channel.',
    'Add an address to the contact, or send to an address.',
  ],
  channel_not_configured: [
    422,
    'Channel not configured',
    'The channel is not configured or disabled.',
    'Configure it with PUT /v1/messaging/channel-settings.',
  ],
  template_invalid: [
    422,
    'Template invalid',
    'The template cannot be parsed.',
    'Correct the part at the pointer in `errors`.',
  ],
  render_failed: [
    422,
    'Rendering failed',
    'The template could not be rendered with this data.',
    'Send the variables that the template uses.',
  ],
  render_limit_exceeded: [
    422,
    'Rendering limit exceeded',
    'Rendering took more time, memory or output than it may.',
    'Simplify the template.',
  ],
  destination_not_allowed: [
    422,
    'Destination not allowed',
    'The address of the endpoint is not a public one.',
    'Use a host that resolves to public addresses only.',
  ],
  sender_domain_unverified: [
    422,
    'Sender domain unverified',
    'The domain of the sender is not verified.',
    'Verify the domain, or send from another.',
  ],
});

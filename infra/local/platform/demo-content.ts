import type { BodyOf } from '@customer-platform/client';

/** What the demo organization starts with; a person may change all of it. */
export const DEMO_EVENT = 'purchase_completed';

export const DEMO_RULE = {
  name: 'A point per 1,000 CLP',
  event: DEMO_EVENT,
  formula: { type: 'per_amount', currency: 'CLP', per: 1000, points: 1 },
  // Before the events of the documentation, whose times are written down.
  valid_from: '2026-11-01T00:00:00.000Z',
} satisfies BodyOf<'post', '/v1/loyalty/rules'>;

const html = (heading: string, thanks: string, closing: string): string => `<!doctype html>
<html>
  <body style="margin:0;padding:32px 16px;background:#f4f5f8;font-family:system-ui,-apple-system,'Segoe UI',sans-serif;color:#1b1f29">
    <table role="presentation" align="center" style="max-width:480px;width:100%;background:#ffffff;border-radius:16px;border-collapse:separate">
      <tr><td style="padding:32px 32px 8px;font-size:13px;font-weight:600;letter-spacing:.04em;color:#3b5bdb">DEMO SHOP</td></tr>
      <tr><td style="padding:0 32px;font-size:24px;font-weight:650;line-height:1.25">${heading}</td></tr>
      <tr><td style="padding:12px 32px 0;font-size:15px;line-height:1.6;color:#475067">${thanks}</td></tr>
      <tr><td style="padding:20px 32px">
        <div style="background:#eef1ff;border-radius:12px;padding:18px 20px;font-size:28px;font-weight:700;color:#3b5bdb">{{ event.properties.currency }} {{ event.properties.amount }}</div>
      </td></tr>
      <tr><td style="padding:0 32px 32px;font-size:13px;line-height:1.6;color:#667085">${closing}</td></tr>
    </table>
  </body>
</html>`;

export const DEMO_TEMPLATE = {
  name: 'Thanks for a purchase',
  channel: 'email',
  default_locale: 'en',
  // A purchase tried out by hand may lack an amount; its mail is sent all the same.
  strict: false,
  locales: {
    en: {
      subject: 'Thank you for your purchase, {{ contact.first_name }}',
      html: html(
        'Thank you, {{ contact.first_name }}!',
        'We have received your purchase and are getting it ready.',
        'Your points are added to your account as you read this.',
      ),
    },
    es: {
      subject: 'Gracias por tu compra, {{ contact.first_name }}',
      html: html(
        '¡Gracias, {{ contact.first_name }}!',
        'Recibimos tu compra y ya la estamos preparando.',
        'Tus puntos se suman a tu cuenta mientras lees esto.',
      ),
    },
  },
} satisfies BodyOf<'post', '/v1/messaging/templates'>;

export const DEMO_ROUTE = {
  name: 'Thank for every purchase',
  event_type: 'core.event.recorded',
  event_name: DEMO_EVENT,
  channel: 'email',
  category: 'transactional',
} satisfies Omit<BodyOf<'post', '/v1/messaging/event-routing'>, 'template_id'>;

/** The customer of the printed commands, and of the README's. */
export const DEMO_CUSTOMER = {
  external_id: 'customer-1001',
  /** Fixed, as a second introduction under the same key must have the same body. */
  introducedAt: '2026-11-01T12:00:00.000Z',
  traits: { email: 'ana.rojas@example.com', first_name: 'Ana', last_name: 'Rojas', locale: 'es-CL' },
};

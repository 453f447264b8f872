/**
 * Nothing but what the pages were built with, from here alone: no third party, no inline script, no string that becomes
 * markup or code. Mails are previewed in a sandboxed frame whose document is an attribute (`srcdoc`): the one policy named
 * `mail-preview` may write it, once.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types mail-preview',
];

/** What no page here uses, a script that got in shall not have either. */
const UNUSED = [
  'accelerometer',
  'browsing-topics',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'usb',
];

const COMMON = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': UNUSED.map((feature) => `${feature}=()`).join(', '),
  // Without any, browsers send `Origin: null` beside the Console's own calls, which the token endpoint refuses.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Headers of every answer; `framed` by the Console's own pages alone is the page of the silent sign-in. */
export function securityHeaders({ framed }: { framed: boolean }): Record<string, string> {
  const ancestors = framed ? "'self'" : "'none'";
  return {
    ...COMMON,
    'content-security-policy': [...POLICY, `frame-ancestors ${ancestors}`].join('; '),
    'x-frame-options': framed ? 'SAMEORIGIN' : 'DENY',
  };
}

import { CONSOLE_PATHS } from '@customer-platform/config';
import { MAIL_PREVIEW_POLICY } from './mail-preview.js';

/**
 * Nothing but what the pages were built with, from here alone: no third party, no inline script, no string that becomes
 * markup or code.
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
  "trusted-types 'none'",
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
  'permissions-policy': UNUSED.map((feature) => `${feature}=()`).join(', '),
  // Without any, browsers send `Origin: null` beside the Console's own calls, which the token endpoint refuses.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Framed by the Console's own pages alone; all others by nobody. */
const FRAMED: readonly string[] = [CONSOLE_PATHS.silent, CONSOLE_PATHS.mailPreview];

/** Headers of every answer. */
export function securityHeaders(path: string): Record<string, string> {
  const isPreview = path === CONSOLE_PATHS.mailPreview;
  const framed = FRAMED.includes(path);
  const policy = [
    ...(isPreview ? MAIL_PREVIEW_POLICY : POLICY),
    `frame-ancestors ${framed ? "'self'" : "'none'"}`,
  ];
  return {
    ...COMMON,
    // A document without an origin has none to be kept apart by; names in a mail are not looked up either.
    ...(isPreview ? { 'x-dns-prefetch-control': 'off' } : { 'origin-agent-cluster': '?1' }),
    'content-security-policy': policy.join('; '),
    'x-frame-options': framed ? 'SAMEORIGIN' : 'DENY',
  };
}

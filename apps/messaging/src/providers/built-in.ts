import { apns } from './apns/apns.provider.js';
import { fcm } from './fcm/fcm.provider.js';
import { http } from './http/http.provider.js';
import { inbox } from './inbox/inbox.provider.js';
import { mailgun } from './mailgun/mailgun.provider.js';
import { meta } from './meta/meta.provider.js';
import type { Provider } from './provider.js';
import { webpush } from './webpush/webpush.provider.js';
import { ses } from './ses/ses.provider.js';
import { smtp } from './smtp/smtp.provider.js';
import { twilio } from './twilio/twilio.provider.js';

/** Every provider, a line each, in the order in which a channel offers them. */
export const BUILT_IN: readonly Provider[] = [
  smtp,
  mailgun,
  ses,
  twilio,
  meta,
  fcm,
  apns,
  webpush,
  inbox,
  http,
];

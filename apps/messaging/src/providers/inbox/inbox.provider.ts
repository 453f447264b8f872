import { platformWay } from '../http/http.provider.js';
import { composeJson } from '../json-message.js';
import { defineProvider } from '../provider.js';

/** The contact's own inbox in the platform: nothing leaves it. */
export const inbox = defineProvider({
  name: 'inbox',
  channels: ['in_app'],
  fields: {},
  secrets: {},
  destinations: () => [],
  open: ({ platform }) => ({ kind: 'inbox', copyTo: platformWay(platform) }),
  compose: composeJson,
  webhooks: {},
});

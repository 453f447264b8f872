/** A sender as a page has it: the module that is bundled, which sets `window.track(name)`. */
export interface PageSender {
  readonly name: string;
  /** `window.URL_OF_EVENTS` in it is where events go. */
  readonly module: string;
}

/** A sender as a program has it: calls for each name of `names`, and says each that the sender has taken. */
export interface NodeSender {
  readonly name: string;
  readonly module: string;
}

const OURS = '@customer-platform/track';
const SEGMENT = 'Segment';
const RUDDERSTACK = 'RudderStack';

const CALL = `(name, { price: 12990, currency: 'CLP' });`;

/** Its settings come with the page, so that nothing is asked of its CDN. */
const segment = (more: string): string => `import { AnalyticsBrowser } from '@segment/analytics-next';
const apiHost = new URL(window.URL_OF_EVENTS).host + '/v1';
const to = { apiHost, protocol: 'http' ${more} };
const analytics = AnalyticsBrowser.load(
  { writeKey: 'key', cdnSettings: { integrations: { 'Segment.io': { apiKey: 'key', ...to } } } },
  { integrations: { 'Segment.io': to } },
);
window.track = (name) => void analytics.track${CALL}`;

/** The bundle that has its plugins in it; the other one loads them from its CDN. */
const rudderStack = (
  more: string,
): string => `import { RudderAnalytics } from '@rudderstack/analytics-js/bundled';
const analytics = new RudderAnalytics();
const source = { id: 'source', name: 'source', writeKey: 'key', enabled: true, workspaceId: 'workspace',
  config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } }, destinations: [],
  dataplanes: {} };
analytics.load('key', window.URL_OF_EVENTS, {
  getSourceConfig: () => ({ source, updatedAt: '2026-01-01T00:00:00.000Z' }),
  loadIntegration: false,
  ${more}
});
window.track = (name) => void analytics.track${CALL}`;

/** Each with its defaults, the others also with the way that their documentation has for pages that are left. */
export const PAGE_SENDERS: readonly PageSender[] = [
  {
    name: OURS,
    module: `import { createTracker } from '@customer-platform/track';
const tracker = createTracker({ url: window.URL_OF_EVENTS, key: 'key', queue: 'shop', externalId: 'person-1' });
window.track = (name) => void tracker.track${CALL}`,
  },
  { name: SEGMENT, module: segment('') },
  {
    name: `${SEGMENT}, batching with keepalive`,
    module: segment(`, deliveryStrategy: { strategy: 'batching', config: { keepalive: true } }`),
  },
  { name: RUDDERSTACK, module: rudderStack('') },
  { name: `${RUDDERSTACK}, beacon`, module: rudderStack('useBeacon: true,') },
];

export const NODE_SENDERS: readonly NodeSender[] = [
  {
    name: `${OURS}, file`,
    module: `import { createFileTracker } from '@customer-platform/track/node';
const tracker = await createFileTracker({ url, key: 'key', externalId: 'person-1', file });
await Promise.all(names.map(async (name) => (await tracker.track(name)) === 'stored' && say(name)));`,
  },
  {
    name: `${SEGMENT}, memory`,
    module: `import { Analytics } from '@segment/analytics-node';
const analytics = new Analytics({ writeKey: 'key', host: url });
for (const event of names) analytics.track({ userId: 'person-1', event });
for (const name of names) say(name);`,
  },
  {
    name: `${RUDDERSTACK}, memory`,
    module: `import Analytics from '@rudderstack/rudder-sdk-node';
const analytics = new (Analytics.default ?? Analytics)('key', { dataPlaneUrl: url });
for (const event of names) analytics.track({ userId: 'person-1', event });
for (const name of names) say(name);`,
  },
];

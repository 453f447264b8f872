export {
  DestinationNotAllowed,
  isAllowedAddress,
  isLoopbackHost,
  resolveDestination,
  type Destination,
} from './destination.js';
export { resolveHost, type HostAddress, type ResolveHost } from './host-resolver.js';
export {
  OutboundError,
  pinnedFetch,
  type FetchFailure,
  type PinnedFetch,
  type PinnedFetchInit,
  type PinnedFetchOptions,
} from './pinned-fetch.js';
export { postPinned, type PinnedPost, type PostAnswer } from './pinned-post.js';
export type { OutboundFailure } from './pinned-request.js';
export { retryAfterMs } from './retry-after.js';

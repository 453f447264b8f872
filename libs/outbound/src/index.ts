export {
  DestinationNotAllowed,
  isAllowedAddress,
  isLoopbackHost,
  LOOPBACK,
  NOT_PUBLIC,
  resolveDestination,
  type Destination,
} from './destination.js';
export { isAllowedPort, type PortsCalled } from './allowed-ports.js';
export { type ResolveHost } from './host-resolver.js';
export { OutboundError, pinnedFetch, type FetchFailure, type PinnedFetch } from './pinned-fetch.js';
export { postPinned, type PostAnswer } from './pinned-post.js';
export { retryAfterMs } from './retry-after.js';

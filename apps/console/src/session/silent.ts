/**
 * Runs in the frame or window that a sign-in comes back to: gives the provider's answer, its address, to the page that
 * opened it. Only a page of the same origin gets it.
 */
const receiver = window.parent === window ? (window.opener as Window | null) : window.parent;
receiver?.postMessage(
  { source: 'oidc-client', url: window.location.href, keepOpen: false },
  window.location.origin,
);

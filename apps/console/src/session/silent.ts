/**
 * Runs in the frame or window that a sign-in comes back to: gives the provider's answer, its address, to the page that
 * opened it. Only a page of the same origin gets it. A window that passed through pages of another opener policy has no
 * opener any more: it is heard by the name of its state, which only who began the sign-in knows.
 */
const at = window.location;
const answer = { source: 'oidc-client', url: at.href, keepOpen: false };
const state = new URL(at.href).searchParams.get('state');
const receiver = window.parent === window ? (window.opener as Window | null) : window.parent;
if (receiver !== null) receiver.postMessage(answer, at.origin);
else if (state !== null) {
  const channel = new BroadcastChannel(`oidc-client-popup-${state}`);
  channel.postMessage(answer);
  channel.close();
  window.close();
}

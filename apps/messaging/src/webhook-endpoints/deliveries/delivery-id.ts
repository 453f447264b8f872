/**
 * SQL: the id of a delivery, made of its endpoint and its event (a UUID of version 8, RFC 9562 §5.8). No row stores it,
 * so that rows from before have one, too, and those that the release before writes.
 */
export const DELIVERY_ID = `overlay(overlay(md5(endpoint_id::text || event_id::text) PLACING '8' FROM 13 FOR 1)
  PLACING '8' FROM 17 FOR 1)::uuid`;

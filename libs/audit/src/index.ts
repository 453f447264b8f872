export { AUDIT_TOPIC, systemActor, type AuditContext, type AuditEntry } from './audit-entry.js';
export { Audit, AUDITED_MODULE } from './audit.js';
export { AuditModule } from './audit.module.js';
export { readAuditEntry } from './read-audit-entry.js';

export { AUDIT_TOPIC, systemActor, type AuditContext, type AuditEntry } from './audit-entry.js';
export { Audit, AUDITED_MODULE, type AuditRecord } from './audit.js';
export { AuditModule } from './audit.module.js';
export { AuditedChanges } from './audited-changes.recorder.js';
export { AuditedRefusals } from './audited-refusals.js';
export { readAuditEntry } from './read-audit-entry.js';

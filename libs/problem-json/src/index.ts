export { isProblemCode, PROBLEMS, type ProblemCode } from './registry.js';
export { FieldErrors, MAX_ERRORS, shortName, type FieldCode, type FieldError } from './field-errors.js';
export { Problem, PROBLEM_CONTENT_TYPE } from './problem.js';
export { problemIndexPage, problemPage } from './problem-page.js';
export { PROBLEM_SCHEMA, problemExample } from './problem-schema.js';

export type { FieldProblem, ProblemBody } from './problem-error.js';

// SPDX-License-Identifier: Apache-2.0
//
// The bundler processes imported styles.
declare module "*.css";
